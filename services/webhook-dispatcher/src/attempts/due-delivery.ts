import type { DeliveredEvent } from '#deliveries/event-parts.ts';

/** One attempt to make. */
export type DueDelivery = {
  /** Of the row in the queue. */
  queueId: string;
  deliveryId: string;
  laneId: string;
  /** Null for the URL of a resource. */
  endpointId: string | null;
  /** First attempts and single re-sends 0, retries 1, recoveries 2. */
  rank: number;
  isResend: boolean;
  recoveryId: string | null;
  /** Which attempt of the schedule follows, from 1; a re-send is outside of it. */
  attemptNumber: number;
  accountId: string;
  event: DeliveredEvent;
  url: string;
  sealedSecret: string | null;
  /** Whose secret it is, the endpoint's or the resource's: the seal is bound to that id. */
  secretOwnerId: string;
  /** Everything behind the id of the delivery. */
  bodyRest: Buffer;
  traceparent: string | null;
  /** Database time of the fetch, or of the storage, in milliseconds since 1970. */
  fetchedAtMs: number;
  /** Since the event happened. */
  eventAgeSeconds: number;
};

/** A delivery that was just queued, with its first attempt; null where only a fetch decides what that is. */
export type QueuedDelivery = { laneId: string; due: DueDelivery | null };
