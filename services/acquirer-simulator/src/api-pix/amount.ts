import { parseAmountText } from '@pixmesh/acquirer/amount-text';
import type { Cents } from '@pixmesh/kernel/money';
import { z } from 'zod';

/** An amount as API Pix writes it, read into cents. */
export const Amount = z.string().transform((text, context): Cents => {
  const cents = parseAmountText(text);
  if (cents !== null) return cents;
  context.addIssue({ code: 'custom', message: String.raw`expected \d{1,10}\.\d{2}` });
  return z.NEVER;
});
