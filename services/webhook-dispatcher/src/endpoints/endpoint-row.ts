import type { AccountId, ApplicationId, EndpointId } from '@pixmesh/kernel/ids';

/** Whose endpoints a statement may touch: an endpoint belongs to one application of one account (decision 40). */
export type EndpointOwner = { accountId: AccountId; applicationId: ApplicationId };

/** An endpoint that is not deleted, as its routes need it. The secret itself is never read here. */
export type EndpointRow = {
  id: EndpointId;
  url: string;
  description: string;
  events: readonly string[];
  active: boolean;
  hasSecret: boolean;
  /** When its secret was last set, replaced or removed; null where that was not recorded. */
  secretChangedAt: Date | null;
  createdAt: Date;
};
