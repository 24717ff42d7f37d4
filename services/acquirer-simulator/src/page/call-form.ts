import { html, type Html } from './html.ts';

/** One call of the control API: the label of its button, and what is sent. */
export type Call = {
  label: string;
  method: 'POST' | 'PUT' | 'DELETE';
  path: string;
  body?: object;
  /** Shown as a warning colour. */
  bad?: boolean;
};

/** A field whose value goes into the body under its name, when something is written there. */
export type Field = {
  name: string;
  label: string;
  /** How the text is read: reais into cents, a whole number, JSON (the body), part of the address, or as it is. */
  as: 'cents' | 'int' | 'json' | 'path' | 'text';
  value?: string;
  required?: boolean;
};

/** A button of its own. */
export function callButton(call: Call): Html {
  return callForm(call, []);
}

/** Fields with a button. `page.js` makes the call; without it nothing happens. */
export function callForm(call: Call, fields: readonly Field[]): Html {
  return html`<form
    data-method="${call.method}"
    data-path="${call.path}"
    data-body="${JSON.stringify(call.body ?? {})}"
  >
    ${fields.map(input)}<button type="submit" class="${call.bad === true ? 'bad' : ''}">
      ${call.label}
    </button>
  </form>`;
}

function input(field: Field): Html {
  const value = field.value ?? '';
  if (field.as === 'json') {
    return html`<textarea name="${field.name}" data-as="json" aria-label="${field.label}" rows="4">
${value}</textarea>`;
  }
  return html`<input
    name="${field.name}"
    data-as="${field.as}"
    aria-label="${field.label}"
    placeholder="${field.label}"
    value="${value}"
    ${field.required === true && html`required`}
  />`;
}
