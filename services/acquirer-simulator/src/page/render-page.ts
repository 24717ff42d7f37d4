import { formatBalanceText } from '@pixmesh/acquirer/amount-text';

import { html } from './html.ts';
import { renderControls } from './render-controls.ts';
import {
  renderCallbacks,
  renderCharges,
  renderDisputes,
  renderPix,
  renderSends,
} from './render-lists.ts';
import { renderSettings } from './render-settings.ts';
import type { State } from './state.ts';

/** The whole page; `main` is what the script exchanges when something has changed. */
export function renderPage(state: State): string {
  const { text } = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>Acquirer simulator</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="/page/page.css" />
        <script src="/page/page.js" defer></script>
      </head>
      <body>
        <header>
          <h1>Acquirer simulator</h1>
          <output id="answer" role="status"></output>
          <p id="stale" role="alert" hidden></p>
        </header>
        <main>
          <p class="facts">
            Pix key <code>${state.pix_key}</code> · balance
            <strong>R$ ${formatBalanceText(BigInt(state.balance))}</strong> · callbacks to
            <code>${state.webhook_url ?? 'nobody: no webhook is registered'}</code>
          </p>
          ${renderSettings(state)}${renderCharges(state)}${renderPix(state)}
          ${renderDisputes(state)}${renderSends(state)}${renderCallbacks(state)}
        </main>
        ${renderControls()}
      </body>
    </html> `;
  return text;
}
