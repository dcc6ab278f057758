/** Makes paces for commands, as the daemon makes them. */
export { learningPaces as makePaces } from '../../extensions/pace/follow-pace.ts';
