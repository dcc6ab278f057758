import { Incidents } from '../extensions/health/incidents.ts';
import type { Listen } from '../orders/pass/process-events.ts';

/** Listeners of an account that a command drives for a moment. */
export const listeners: readonly Listen[] = [Incidents.open];
