import { z } from 'zod';

/** Applications of one comparison. */
export const COMPARED_APPLICATIONS_MAX = 500;

/** POST `CompareApplicationsBody` to the dispatcher → `ComparedApplications`. */
export const COMPARE_APPLICATIONS_PATH = '/internal/applications/compare';

/** Applications as the gateway has them. */
export const CompareApplicationsBody = z.object({
  applications: z
    .array(z.object({ application_id: z.uuid(), version: z.int() }))
    .max(COMPARED_APPLICATIONS_MAX),
});
export type CompareApplicationsBody = z.infer<typeof CompareApplicationsBody>;

/** Those of which the dispatcher has received an older state, or none. */
export const ComparedApplications = z.object({ behind: z.array(z.uuid()) });
export type ComparedApplications = z.infer<typeof ComparedApplications>;
