import type { z } from 'zod';
import type { FlowDeps } from '../../../flows/pass/deps.ts';
import type { Result } from '../result.ts';
import type { ErrorStatus } from './errors.ts';

/** The things that the operations of the control socket work with. */
export interface OperationDeps extends FlowDeps {
  /** Wakes the create pass: orders were put in, and need not wait for the next tick. */
  readonly wakeCreates: () => void;
}

/** One operation: what it takes and answers, as the OpenAPI document says it, and what it does. */
export interface Operation<Params = unknown, Query = unknown, Body = unknown> {
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly params?: z.ZodType<Params>;
  readonly query?: z.ZodType<Query>;
  readonly body?: z.ZodType<Body>;
  /** The `value` of a success, by its HTTP status. */
  readonly values: Readonly<Record<number, z.ZodType>>;
  /** The documented errors, by HTTP status. */
  readonly errors: readonly ErrorStatus[];
  /** Does it. `signal` aborts when nobody waits for the answer any more. Throws `UnusableIdError`. */
  run(deps: OperationDeps, input: Params & Query & Body, signal?: AbortSignal): Promise<Result>;
}

/** Gives an operation back as it is, with the types of its input. */
export function operation<Params, Query, Body>(
  described: Operation<Params, Query, Body>,
): Operation<Params, Query, Body> {
  return described;
}
