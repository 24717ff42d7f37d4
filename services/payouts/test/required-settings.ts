/** What has no default. */
export const REQUIRED_SETTINGS = {
  NODE_ENV: 'development',
  DATABASE_URL: 'postgres://u@localhost/db',
  MESH_TLS_DIR: '/identity',
  KAFKA_BROKERS: 'localhost:9092',
  SCHEMA_REGISTRY_URL: 'http://localhost:8081',
  INTERNAL_PORT: '0',
  PORT: '0',
  LEDGER_URL: 'https://localhost:1',
  DISPATCHER_URL: 'https://localhost:2',
  CHARGES_URL: 'https://localhost:3',
  ACQUIRER_URL: 'http://localhost:2',
  ACQUIRER_CLIENT_ID: 'id',
  ACQUIRER_CLIENT_SECRET: 'secret',
  ACQUIRER_PIX_KEY: 'key',
  WEBHOOK_SEALING_PUBLIC_KEY: 'v1:key',
};
