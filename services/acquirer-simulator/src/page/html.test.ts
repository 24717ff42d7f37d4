import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { html } from './html.ts';

describe('markup', () => {
  it('escapes every value, in text and in attributes', () => {
    const name = `<script>alert("1" & '2')</script>`;
    expect(html`<b title="${name}">${name}</b>`.text).toBe(
      '<b title="&lt;script&gt;alert(&quot;1&quot; &amp; &#39;2&#39;)&lt;/script&gt;">' +
        '&lt;script&gt;alert(&quot;1&quot; &amp; &#39;2&#39;)&lt;/script&gt;</b>',
    );
  });

  it('keeps markup, one or several, and leaves out what is not there', () => {
    const rows = ['a', '<'].map((text) => html`<li>${text}</li>`);
    expect(html`${rows}${null}${false}${undefined}${0}`.text).toBe('<li>a</li><li>&lt;</li>0');
  });

  it('never lets a value open a tag or leave its quotes', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...`<>"'&;a `) }), (text) => {
        expect(html`${text}`.text).not.toMatch(/[<>"']/);
      }),
    );
  });
});
