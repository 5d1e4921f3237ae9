export { SCOPES, type Scope } from './auth.ts';
export { buildServer, type ServerOptions, startServer } from './startServer.ts';
export { urls } from './urls.ts';
