export { quickenMoves as up } from './guards.ts';
