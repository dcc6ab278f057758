import swagger from '@fastify/swagger';
import { jsonSchemaTransform } from 'fastify-type-provider-zod';
import { bareServer } from './control.ts';
import { addRoutes } from './routes/index.ts';

/** The OpenAPI document of the control socket, generated from the routes themselves. */
export async function controlDocument(version: string): Promise<Record<string, unknown>> {
  const server = bareServer({ error: () => {} });
  await server.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'order-sync control socket', version, description: 'x', license: { name: 'MIT' } },
      servers: [{ url: 'http://localhost', description: 'through the Unix socket <database>.sock' }],
    },
    transform: jsonSchemaTransform,
  });
  addRoutes(server, {
    deps: () => {
      throw new Error('the routes are described here, not served');
    },
    stopping: new AbortController().signal,
    onRun: () => {},
  });
  await server.ready();
  return server.swagger() as unknown as Record<string, unknown>;
}
