import { randomUUID } from 'node:crypto';

import { ReceivedPixCredit } from '@pixmesh/contracts/messages/ledger-command.v1';
import { TOPICS } from '@pixmesh/contracts/topics';
import { createEventPublisher } from '@pixmesh/kafka/event-publisher';
import type { EventToPublish } from '@pixmesh/kafka/outgoing-message';
import { warmCodec } from '@pixmesh/kafka/schema-registry';
import { tailTopic } from '@pixmesh/kafka/tail';
import { deriveCommandId, newId } from '@pixmesh/kernel/ids';
import { createLogger } from '@pixmesh/telemetry/logger';

import { type Aim, atLeast, atMost } from '../aims.ts';
import { describeLatencies } from '../latencies.ts';
import { type ServiceInfra, toolsBroker } from '../service-process.ts';
import { startLedgerProcess } from './ledger-process.ts';
import { createOpenLoop, type OpenLoopFigure } from './open-loop.ts';

const ACCOUNTS = 1_000;
const AIM_RATE = 2_000;
const AIM_P99_MS = 100;
const SECONDS = 20;
const WARM_UP_SECONDS = 5;
/** Looked for upwards until the ledger falls behind. */
const HIGHER_RATES = [3_000, 4_000, 5_000, 6_000, 8_000];
const HIGHER_SECONDS = 10;

/**
 * Command topic → ledger → result topic: credits over 1,000 accounts at a steady rate, each from the time it was
 * meant to be sent until its outcome has been read back from the topic of outcomes, by this process.
 */
export async function benchCommandTopic(infra: ServiceInfra): Promise<Aim[]> {
  await using _ledger = await startLedgerProcess(infra);
  const road = await openRoad(infra);
  try {
    const atAim = print(await road.measure(AIM_RATE, SECONDS));
    let sustained = isSustained(atAim) ? AIM_RATE : 0;
    for (const rate of sustained > 0 ? HIGHER_RATES : []) {
      if (!isSustained(print(await road.measure(rate, HIGHER_SECONDS)))) break;
      sustained = rate;
    }
    if (atAim.lost > 0) throw new Error(`void: ${atAim.lost} commands without an outcome`);
    return [
      atLeast('topic to topic: highest rate sustained, /s', sustained, AIM_RATE),
      atMost(`topic to topic: p99 at ${AIM_RATE}/s, ms`, atAim.p99Ms, AIM_P99_MS),
    ];
  } finally {
    await road.close();
  }
}

function isSustained(figure: OpenLoopFigure): boolean {
  return figure.lost === 0 && figure.p99Ms <= AIM_P99_MS;
}

async function openRoad(infra: ServiceInfra) {
  const stopping = new AbortController();
  const accounts = Array.from({ length: ACCOUNTS }, () => newId());
  const publisher = createEventPublisher({
    ...toolsBroker(infra),
    clientId: 'bench',
    logger: createLogger('bench', 'error'),
    codec: await warmCodec(infra.registryUrl, [ReceivedPixCredit]),
    topicPrefix: '',
  });
  let answered = (_commandId: string): void => undefined;
  const following = tailTopic({
    ...toolsBroker(infra),
    registryUrl: infra.registryUrl,
    topic: TOPICS.ledgerEvents,
    fromBeginning: true,
    signal: stopping.signal,
    onMessage: ({ value }) => answered((value as Outcome).data.command_id),
  });
  return {
    measure: async (rate: number, seconds: number): Promise<OpenLoopFigure> => {
      const loop = createOpenLoop<EventToPublish>({
        rate,
        seconds,
        warmUpSeconds: WARM_UP_SECONDS,
        make: (index) => aCredit(accounts[index % accounts.length] ?? ''),
        idOf: ({ message }) => (message as Outcome).data.command_id,
        send: (events) => publisher.publishAll(events),
      });
      ({ answered } = loop);
      return await loop.run();
    },
    close: async () => {
      stopping.abort();
      await Promise.all([following, publisher[Symbol.asyncDispose]()]);
    },
  };
}

type Outcome = { data: { command_id: string } };

function aCredit(accountId: string): EventToPublish {
  const eventId = newId();
  const endToEndId = `E12345678${randomUUID().replaceAll('-', '').slice(0, 23)}`;
  return {
    eventId,
    topic: ReceivedPixCredit.topic,
    key: accountId,
    type: ReceivedPixCredit.type,
    traceparent: null,
    message: {
      event_id: eventId,
      type: ReceivedPixCredit.type,
      version: 1,
      occurred_at: new Date().toISOString(),
      account_id: accountId,
      application_id: null,
      data: {
        command_id: deriveCommandId('received_pix', endToEndId),
        end_to_end_id: endToEndId,
        charge_id: newId(),
        amount: 1_000,
        release_at: null,
      },
    },
  };
}

function print(figure: OpenLoopFigure): OpenLoopFigure {
  const { rate, lost } = figure;
  console.log(`topic to topic ${rate}/s  ${describeLatencies(figure)}  lost ${lost}`);
  return figure;
}
