import { laneOf } from '#lanes/lane-of.ts';

/** The URL that a resource was created with. */
type ResourceUrl = { url: string };

/** An endpoint of the receiving set that subscribes to the event. */
export type SubscribedEndpoint = {
  id: string;
  url: string;
  /** Null where it has no secret. */
  sealedSecret: string | null;
  /**
   * Whether it was registered and active when the event happened, and its application was active too (decisions 160,
   * 237).
   */
  wasActive: boolean;
  /** Whether nothing is sent to it now, whatever it was when the event happened. */
  isDisabledNow: boolean;
};

/** One delivery that an event makes. */
export type ChosenDelivery = {
  /** With the event, the delivery's permanent key: the endpoint's id or the resource's. */
  destinationId: string;
  /** Null for the resource's own URL. */
  endpointId: string | null;
  /** Whether an endpoint's delivery is also the one for the resource's own URL. */
  forResourceUrl: boolean;
  /**
   * What shares one bound of sends in flight (ADR 0013): an endpoint, or the place that the resource's
   * own URL names. What stands for both is in the lane of the URL, because a pause of the endpoint must not hold it.
   */
  laneId: string;
  status: 'pending' | 'skipped';
};

type Receivers = {
  accountId: string;
  resourceId: string;
  own: ResourceUrl | null;
  endpoints: readonly SubscribedEndpoint[];
};

/**
 * The deliveries of an event. Both mechanisms add up: every subscribed endpoint and the resource's own URL, unless an
 * active endpoint has exactly that URL and so stands for both (specification, Delivery mechanisms; decision 179).
 * Texts are compared, not what they mean. An inactive endpoint's delivery is on record and never sent (decision 157),
 * and must not replace the one for the resource's own URL.
 */
export function chooseDeliveries(receivers: Receivers): ChosenDelivery[] {
  const { own, endpoints } = receivers;
  const chosen = endpoints.map((endpoint): ChosenDelivery => {
    const forResourceUrl = endpoint.wasActive && endpoint.url === own?.url;
    return {
      destinationId: endpoint.id,
      endpointId: endpoint.id,
      forResourceUrl,
      laneId: forResourceUrl ? laneOf(receivers.accountId, endpoint.url) : endpoint.id,
      status: endpoint.wasActive ? 'pending' : 'skipped',
    };
  });
  if (own === null || chosen.some((delivery) => delivery.forResourceUrl)) return chosen;
  return [...chosen, forOwnUrl(receivers, own)];
}

function forOwnUrl({ accountId, resourceId }: Receivers, { url }: ResourceUrl): ChosenDelivery {
  return {
    destinationId: resourceId,
    endpointId: null,
    forResourceUrl: false,
    laneId: laneOf(accountId, url),
    status: 'pending',
  };
}
