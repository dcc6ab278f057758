import type { z } from 'zod';
import type { FlowDeps } from '../../../flows/pass/deps.ts';
import type { Outcome } from '../answer.ts';
import type { ErrorStatus } from './errors.ts';

/** What the operations of the control socket work with. */
export interface ControlDeps extends FlowDeps {
  /** Orders were put in: they need not wait for the next tick. */
  readonly wakeCreates: () => void;
}

/** What the routes are served with. */
export interface Serving {
  readonly deps: () => ControlDeps;
  readonly stopping: AbortSignal;
  /** Told of each operation that runs; ends with it. */
  readonly onRun: (running: Promise<unknown>) => void;
}

/** One operation of the control socket: what it is called, takes and answers (all of it in the OpenAPI document), and does. */
export interface Operation<Params = unknown, Query = unknown, Body = unknown> {
  readonly method: 'GET' | 'POST';
  /** With `:name` for a parameter of the path. */
  readonly url: string;
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly params?: z.ZodType<Params>;
  readonly query?: z.ZodType<Query>;
  readonly body?: z.ZodType<Body>;
  /** The `value` of a success, by its HTTP status. */
  readonly values: Readonly<Record<number, z.ZodType>>;
  /** Documented errors beside those that any operation may have. */
  readonly errors: readonly ErrorStatus[];
  /** `signal` aborts when nobody waits for the answer any more. Throws `UnusableIdError`. */
  run(
    deps: ControlDeps,
    input: { readonly params: Params; readonly query: Query; readonly body: Body },
    signal: AbortSignal,
  ): Promise<Outcome>;
}

/** An operation among others, each of which takes something else. */
export function operation<Params, Query, Body>(described: Operation<Params, Query, Body>): Operation {
  return described;
}
