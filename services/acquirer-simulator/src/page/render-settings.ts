import { callButton, callForm, type Field } from './call-form.ts';
import { callOf, type Control, CONTROLS } from './controls.ts';
import { html, type Html } from './html.ts';
import type { State } from './state.ts';

const HOUR_SECONDS = 3_600;

/** Clock, faults, profile, money that names no charge, and the account. */
export function renderSettings(state: State): Html {
  return html`<section id="settings">
    ${renderClock(state)}${renderFaults(state)}${renderProfile(state)}${renderArrival()}${renderAccount()}
  </section>`;
}

function renderClock({ clock }: State): Html {
  const moves = [1, 25, -1].map((hours) =>
    callButton({
      label: `${hours > 0 ? '+' : '−'}${Math.abs(hours)} h`,
      ...callOf(CONTROLS.moveClock),
      body: { advance_seconds: hours * HOUR_SECONDS },
    }),
  );
  const off = clock.offset_seconds === 0 ? 'real time' : `${clock.offset_seconds} s off`;
  return html`<fieldset id="clock">
    <legend>Clock</legend>
    <p><time>${clock.now}</time> (${off})</p>
    <div class="buttons">
      ${moves}
      ${callForm({ label: 'Advance', ...callOf(CONTROLS.moveClock) }, CONTROLS.moveClock.fields)}
      ${callButton({ label: 'Real time', ...callOf(CONTROLS.resetClock) })}
    </div>
  </fieldset>`;
}

function renderFaults({ faults }: State): Html {
  const { added = [], ...first } = faults;
  const script = JSON.stringify(first, null, 1);
  const rules = [first, ...added].reduce((sum, one) => sum + one.rules.length, 0);
  const removals = added.map(({ id, rules: own }) =>
    callButton({ label: `Remove ${own.length} added`, ...callOf(CONTROLS.removeFaults, { id }) }),
  );
  return html`<fieldset id="faults">
    <legend>Faults (${rules === 0 ? 'none' : rules})</legend>
    <div class="buttons">
      ${callForm({ label: 'Replace', ...callOf(CONTROLS.replaceFaults) }, [
        { name: 'script', label: 'fault script', as: 'json', value: script },
      ])}
      ${removals} ${callButton({ label: 'Clear faults', ...callOf(CONTROLS.clearFaults) })}
    </div>
  </fieldset>`;
}

function renderProfile({ profile }: State): Html {
  const choices = ['manual', 'efi'].map((name) =>
    callButton({
      label: `Use ${name}`,
      ...callOf(CONTROLS.setProfile),
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
      ${callForm({ label: 'Arrive', ...callOf(CONTROLS.receivePix) }, fieldsOf(CONTROLS.receivePix, ['amount', 'txid', 'chave']))}
    </div>
  </fieldset>`;
}

/** What the provider takes, and what of the balance nothing here explains. */
function renderAccount(): Html {
  const foreign = CONTROLS.addForeignSend;
  return html`<fieldset id="account">
    <legend>Account</legend>
    <div class="buttons">
      ${callForm({ label: 'Set tariff', ...callOf(CONTROLS.setTariff) }, CONTROLS.setTariff.fields)}
      ${callForm({ label: 'Adjust balance', ...callOf(CONTROLS.adjustBalance) }, CONTROLS.adjustBalance.fields)}
      ${callForm({ label: 'Foreign order', ...callOf(foreign) }, fieldsOf(foreign, ['amount', 'id_envio']))}
    </div>
  </fieldset>`;
}

/** The usual ones; the others stand under every call of the control API. */
function fieldsOf({ fields }: Control, names: readonly string[]): Field[] {
  return fields.filter(({ name }) => names.includes(name));
}
