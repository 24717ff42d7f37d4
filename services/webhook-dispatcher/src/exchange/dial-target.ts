/** What a socket is opened to: an address that was checked, or a development receiver's. */
export type DialTarget = { address: string; port: number };
