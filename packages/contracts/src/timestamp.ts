import { z } from 'zod';

/** `YYYY-MM-DDTHH:mm:ss.sssZ`: how every time leaves us (decision 18). */
export const Timestamp = z.iso.datetime({ precision: 3 });
