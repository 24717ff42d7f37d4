/** One name of a return: the acquirer's ids of returns are unique within their Pix. */
export function returnKey(endToEndId: string, returnId: string): string {
  return `${endToEndId}/${returnId}`;
}
