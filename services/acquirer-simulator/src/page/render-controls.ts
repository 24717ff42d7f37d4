import { callForm } from './call-form.ts';
import { type Control, CONTROLS, idFields } from './controls.ts';
import { html, type Html } from './html.ts';

/** Every call of the control API with all its fields, beside `main`: what is written here stays through refreshes. */
export function renderControls(): Html {
  return html`<aside>
    <details>
      <summary>Every call of the control API</summary>
      <dl>${Object.values<Control>(CONTROLS).map(renderControl)}</dl>
    </details>
  </aside>`;
}

function renderControl(control: Control): Html {
  return html`<dt>${control.does}</dt>
    <dd>${control.method === 'GET' ? link(control.path) : form(control, control.method)}</dd>`;
}

function link(path: string): Html {
  return html`<a href="${path}" target="_blank">GET ${path}</a>`;
}

/** `page.js` puts the ids into the address. */
function form(control: Control, method: 'POST' | 'PUT' | 'DELETE'): Html {
  const { path } = control;
  const fields = [...idFields(control), ...control.fields];
  return callForm({ label: `${method} ${path}`, method, path }, fields);
}
