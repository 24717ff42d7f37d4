/** JSON Schema 2020-12 as OpenAPI 3.1 carries it. */
export type JsonSchema = { [keyword: string]: unknown };

export type Example = { summary?: string; value: unknown };
export type MediaType = { schema: JsonSchema; examples: Record<string, Example> };
export type Content = { 'application/json': MediaType };
export type Header = { description: string; required?: boolean; schema: JsonSchema };
export type Reference = { $ref: string };
export type Link = { operationId: string; parameters: Record<string, string> };
export type ExternalDocs = { url: string; description: string };
export type Response = {
  description: string;
  headers?: Record<string, Header | Reference>;
  content?: Content;
  links?: Record<string, Link>;
};

export type Parameter = {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
  schema: JsonSchema;
  example?: unknown;
};

export type Operation = {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  security?: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { required: boolean; description?: string; content: Content };
  responses: Record<string, Response | Reference>;
  /** The scope that a key needs; null where any key may call. */
  'x-scope'?: string | null;
  /** Of webhooks: whether deliveries go out now, and whether the product has such resources at all. */
  'x-dispatched'?: boolean;
  'x-produced'?: boolean;
};

export type HttpMethod = 'get' | 'post' | 'put' | 'patch' | 'delete';
export type PathItem = Partial<Record<HttpMethod, Operation>>;

/** What this product writes of OpenAPI 3.1; not all that the standard allows. */
export type OpenApiDocument = {
  openapi: '3.1.1';
  jsonSchemaDialect?: string;
  info: { title: string; version: string; description: string; license?: { name: string } };
  /** Left out where paths begin at the origin that serves the document, which is the standard's default. */
  servers?: { url: string; description?: string }[];
  tags: { name: string; description: string; externalDocs?: ExternalDocs }[];
  externalDocs?: ExternalDocs;
  security?: Record<string, string[]>[];
  paths: Record<string, PathItem>;
  webhooks?: Record<string, PathItem>;
  components: {
    schemas: Record<string, JsonSchema>;
    responses?: Record<string, Response>;
    headers?: Record<string, Header>;
    securitySchemes: Record<string, object>;
  };
};
