import { callButton, callForm } from './call-form.ts';
import { html, type Html } from './html.ts';
import type { State } from './state.ts';

const HOUR_SECONDS = 3_600;

/** Clock, faults, profile, and money that names no charge. */
export function renderSettings(state: State): Html {
  return html`<section id="settings">
    ${renderClock(state)}${renderFaults(state)}${renderProfile(state)}${renderArrival()}
  </section>`;
}

function renderClock({ clock }: State): Html {
  const moves = [1, 25, -1].map((hours) =>
    callButton({
      label: `${hours > 0 ? '+' : '−'}${Math.abs(hours)} h`,
      method: 'POST',
      path: '/control/clock',
      body: { advance_seconds: hours * HOUR_SECONDS },
    }),
  );
  const off = clock.offset_seconds === 0 ? 'real time' : `${clock.offset_seconds} s off`;
  return html`<fieldset id="clock">
    <legend>Clock</legend>
    <p><time>${clock.now}</time> (${off})</p>
    <div class="buttons">
      ${moves}
      ${callForm({ label: 'Advance', method: 'POST', path: '/control/clock' }, [
        { name: 'advance_seconds', label: 'seconds', as: 'int', required: true },
      ])}
      ${callButton({ label: 'Real time', method: 'DELETE', path: '/control/clock' })}
    </div>
  </fieldset>`;
}

function renderFaults({ faults }: State): Html {
  const script = JSON.stringify(faults, null, 1);
  const rules = faults.rules.length;
  return html`<fieldset id="faults">
    <legend>Faults (${rules === 0 ? 'none' : rules})</legend>
    <div class="buttons">
      ${callForm({ label: 'Replace', method: 'PUT', path: '/control/faults' }, [
        { name: 'script', label: 'fault script', as: 'json', value: script },
      ])}
      ${callButton({ label: 'Clear faults', method: 'DELETE', path: '/control/faults' })}
    </div>
  </fieldset>`;
}

function renderProfile({ profile }: State): Html {
  const choices = ['manual', 'efi'].map((name) =>
    callButton({
      label: `Use ${name}`,
      method: 'PUT',
      path: '/control/profile',
      body: { name },
    }),
  );
  return html`<fieldset id="profile">
    <legend>Profile: ${profile}</legend>
    <div class="buttons">${choices}</div>
  </fieldset>`;
}

function renderArrival(): Html {
  return html`<fieldset id="arrival">
    <legend>Money without a charge</legend>
    <div class="buttons">
      ${callForm({ label: 'Arrive', method: 'POST', path: '/control/pix' }, [
        { name: 'amount', label: 'amount in R$', as: 'cents', required: true },
        { name: 'txid', label: 'txid (none)', as: 'text' },
        { name: 'chave', label: 'Pix key (own)', as: 'text' },
      ])}
    </div>
  </fieldset>`;
}
