import { z } from 'zod';
import { ANSWERS } from './api/answer-schemas.ts';
import { EMAIL_INPUTS } from './clients/email-inputs.ts';
import { REFUSALS, type Refusal, type RefusalName } from './api/refusals.ts';
import { levelSchema } from './api/requests.ts';
import { ROUTES, type Route } from './api/routes.ts';

type Json = Record<string, unknown>;

const DESCRIPTION = `An exchange for trials. Some of its behaviour is ours, because the interface does not show it: success is
always 200; the statuses of links besides NOT_VERIFIED, and of orders besides REQUEST and NEW; every delay and lifetime;
and the refusals that say so.

Some e-mail addresses of clients decide what happens:

| address | effect |
| --- | --- |
${EMAIL_INPUTS.map(([input, effect]) => `| ${input} | ${effect} |`).join('\n')}`;

const EVERYWHERE = ['keyRefused', 'malformed', 'tooManyRequests'] as const;

/** Describes the sandbox in OpenAPI 3.1, from the tables and schemas that it uses itself. */
export function openApi(): Json {
  const paths: Record<string, Json> = {};
  for (const [name, route] of Object.entries<Route>(ROUTES)) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(name, route) };
  }
  const schemas = Object.fromEntries(Object.entries(ANSWERS).map(([name, schema]) => [name, schemaOf(schema)]));
  return {
    openapi: '3.1.0',
    info: { title: 'Sandbox exchange of order-sync', version: 'v1', description: DESCRIPTION },
    servers: [{ url: '/' }],
    security: [{ key: [] }],
    paths,
    webhooks: { photos: { post: photoDelivery() } },
    components: {
      securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'x-api-key' } },
      schemas,
    },
  };
}

function operation(name: string, route: Route): Json {
  const refused = Map.groupBy([...route.refusals, ...EVERYWHERE], (refusal) => String(REFUSALS[refusal].httpStatus));
  return {
    operationId: name,
    summary: `${route.summary} (§${route.section})`,
    parameters: parameters(route),
    ...(route.body && { requestBody: { required: true, content: json(schemaOf(route.body)) } }),
    responses: {
      200: { description: 'Done', content: json(reference(route.answer)) },
      ...Object.fromEntries([...refused].map(([status, names]) => [status, refusalResponse(names)])),
    },
  };
}

function parameters({ path, query, header }: Route): Json[] {
  const parameter = (place: string, name: string, schema: Json) => ({ name, in: place, required: true, schema });
  const text = { type: 'string', minLength: 1 };
  return [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) =>
      parameter('path', name, name === 'level_type' ? schemaOf(levelSchema) : text),
    ),
    ...(query === undefined ? [] : [parameter('query', query, text)]),
    ...(header === undefined ? [] : [parameter('header', header, text)]),
  ];
}

function refusalResponse(names: readonly RefusalName[]): Json {
  const refusals = names.map((name): [RefusalName, Refusal] => [name, REFUSALS[name]]);
  const summary = ({ when, isDocumented }: Refusal) => (isDocumented ? when : `${when} (ours)`);
  return {
    description: refusals.map(([, refusal]) => summary(refusal)).join('; or '),
    ...(names.includes('tooManyRequests') && {
      headers: { 'retry-after': { description: 'Seconds to wait', schema: { type: 'integer' } } },
    }),
    content: {
      'application/json': {
        schema: reference('Error'),
        examples: Object.fromEntries(
          refusals.map(([name, refusal]) => [name, { summary: summary(refusal), value: refusal.body }]),
        ),
      },
    },
  };
}

/** The delivery of §6, which the sandbox sends. */
function photoDelivery(): Json {
  const properties = {
    details: { type: 'string', description: 'JSON: {"token": the token of the request (§4.5), where there was one}' },
    file: { type: 'array', items: { type: 'string', contentMediaType: 'image/*' } },
  };
  const schema = { type: 'object', properties, required: ['details', 'file'] };
  return {
    operationId: 'deliverPhotos',
    summary: 'Verification photos for the merchant (§6)',
    description: 'Goes to the delivery address after a request of §4.5, once, whatever the answer is.',
    security: [],
    requestBody: { content: { 'multipart/form-data': { schema } } },
    responses: { default: { description: 'Not looked at' } },
  };
}

function json(schema: Json): Json {
  return { 'application/json': { schema } };
}

function reference(name: keyof typeof ANSWERS): Json {
  return { $ref: `#/components/schemas/${name}` };
}

function schemaOf(schema: z.ZodType): Json {
  // JSON Schema has no type for exact numbers; their schemas name it.
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return rest;
}
