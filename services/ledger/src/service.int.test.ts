import { setTimeout as delay } from 'node:timers/promises';

import {
  CreditReceivedPix,
  LEDGER_COMMANDS,
} from '@pixmesh/contracts/messages/ledger-command.v1';
import { TOPICS } from '@pixmesh/contracts/topics';
import { createEventPublisher, type EventPublisher } from '@pixmesh/kafka/event-publisher';
import { warmCodec } from '@pixmesh/kafka/schema-registry';
import { newId } from '@pixmesh/kernel/ids';
import { listDeadLetters } from '@pixmesh/postgres/dead-letters';
import { createLogger } from '@pixmesh/telemetry/logger';
import { startTelemetry, stopTelemetry } from '@pixmesh/telemetry/sdk';
import { eventually } from '@pixmesh/testkit/eventually';
import { type OtlpReceiver, startOtlpReceiver } from '@pixmesh/testkit/otlp-receiver';
import { followTopic } from '@pixmesh/testkit/read-topic';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { testInfra } from '@pixmesh/testkit/test-infra';
import { createTokenKeys } from '@pixmesh/testkit/test-tokens';
import { createTestTopics } from '@pixmesh/testkit/test-topics';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { PLATFORM_ACCOUNT_ID } from '#accounts/chart-of-accounts.ts';
import { LedgerConfig } from '#config.ts';
import { countRows, findBreaks, readBalances } from '#testing/check-ledger.ts';
import {
  aCredit,
  again,
  anEndToEndId,
  aSuspense,
  type CreditWire,
  type SuspendWire,
} from '#testing/received-pix-messages.ts';

import { startLedger } from './service.ts';
