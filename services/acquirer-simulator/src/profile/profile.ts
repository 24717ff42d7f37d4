import { z } from 'zod';

/** `manual`: nothing is paid or refused unless asked. `efi`: the amounts decide (README). */
export const Profile = z.enum(['manual', 'efi']);
export type Profile = z.infer<typeof Profile>;

export const StoredProfile = z.object({ name: Profile });
export type StoredProfile = z.infer<typeof StoredProfile>;

export const PROFILE_SETTING = 'profile';
export const PROFILE_DEFAULT: StoredProfile = { name: 'manual' };
