/** The content type of the JSON that services answer with. */
export const JSON_TYPE = 'application/json; charset=utf-8';
