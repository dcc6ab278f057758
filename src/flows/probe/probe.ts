import type { FlowDeps } from '../pass/deps.ts';
import { Asking, type Probed, type ProbeStep } from './asking.ts';
import { probeOrder, repeatCreate } from './order.ts';
import { probeAbsence, probeIds, probeKey, probeRate } from './questions.ts';

/** One step of a probe, with the order of those that make something. */
export interface ProbeInput {
  readonly step: ProbeStep;
  /** By its columns in `merchant_orders`. */
  readonly order?: Readonly<Record<string, unknown>> | undefined;
  /** The requests of the step `rate`. */
  readonly requests?: string | undefined;
}

/** Asks the exchange what the document leaves open, one step. Each request takes its turn as a person's does. */
export async function probe(deps: FlowDeps, input: ProbeInput, signal?: AbortSignal): Promise<Probed> {
  const { step, order, requests = '1' } = input;
  const asking = new Asking(deps, signal);
  switch (step) {
    case 'absence':
      return await probeAbsence(asking);
    case 'ids':
      return await probeIds(asking);
    case 'key':
      return await probeKey(asking);
    case 'rate':
      return await probeRate(asking, Number(requests));
    case 'order':
    case 'repeat':
      if (order === undefined) return { kind: 'invalid', message: `the step ${step} needs an order` };
      return await (step === 'order' ? probeOrder : repeatCreate)(deps, asking, order, signal);
  }
}
