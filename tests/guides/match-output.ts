/**
 * A pattern for what a guide says that a sample prints: `…` stands for any text within a line, and alone on a line
 * for any number of lines.
 */
export function toOutputPattern(output: string): RegExp {
  const lines = output.trimEnd().split('\n');
  const parts = lines.map((line, index) => {
    const end = index === lines.length - 1 ? '' : '\\n';
    if (line.trim() === '…') return `(?:.*(?:\\n|$))*?`;
    return line.split('…').map(escapePattern).join('.*') + end;
  });
  return new RegExp(`^${parts.join('')}$`);
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
