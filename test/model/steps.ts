import * as is from './state.ts';
import { Scene, type Slot, type State } from './state.ts';

/** The mistakes that can be planted, each a macro of ownership.pml; NO_PROOF shows with a synchronous standby alone. */
export const MISTAKES = {
  EARLY: 'a request leaves before its intent is durable',
  NO_FENCE: 'an owner that another has followed still writes: take-over without the generation',
  NO_MARK: 'a write requires the generation alone, so an owner does not notice that its last commit is gone',
  NO_TRUST: 'a request leaves although the heartbeat is no longer trusted',
  FORGET: 'a claim does not notice that the server was promoted',
  EMPTY_WINDOW: 'after a fail-over the window of the rate begins empty',
  RECOVER: 'an order that is found `sending` is pending again',
  NO_LEASE: 'the next owner does not read which requests the last one was granted',
  TIMEOUT: 'an order whose request had no answer is pending again',
  ABSENCE: 'absence frees an order that was in doubt',
  WOKEN: 'a worker that stood still continues by its generation on a promoted server',
  NO_PROOF: 'a request does not wait until its intent is on the synchronous standby',
} as const;

export interface Setup {
  readonly sync: boolean;
  readonly generations: number;
  readonly promotions: number;
  readonly mistake?: keyof typeof MISTAKES | undefined;
}

/** Returns the state after it, or undefined if the step is not allowed in the state. */
export type Step = (state: State, w: Slot) => State | undefined;
type Condition = (scene: Scene) => boolean;

function step(isAllowed: Condition, change: (scene: Scene) => void): Step {
  return (state, w) => {
    const scene = new Scene(state, w);
    if (!isAllowed(scene)) return undefined;
    const next = scene.copy();
    change(next);
    return next.state;
  };
}

const set = <Target extends object>(target: Target, values: Partial<Target>) => void Object.assign(target, values);

/** The conditions that several steps and promises share. */
export function conditionsOf({ mistake }: Setup) {
  const fenced: Condition = (scene) =>
    scene.isFenced ||
    (scene.isOnLine && (mistake === 'NO_FENCE' || (mistake === 'NO_MARK' && scene.me.has === scene.row.gen)));
  const owns: Condition = (scene) => fenced(scene) && scene.me.ready === 1;
  const mayLeave: Condition = (scene) => {
    const { at, wire, trust, spent } = scene.me;
    const isProved = at === is.PROVED && trust > 0 && (spent === 1 || fenced(scene));
    return at === is.BEGUN || wire === is.FLYING || isProved;
  };
  const quiet: Condition = ({ state }) => !mayLeave(new Scene(state, 0)) && !mayLeave(new Scene(state, 1));
  return { fenced, owns, mayLeave, quiet };
}

function ownership({ generations, mistake, sync }: Setup, { fenced }: ReturnType<typeof conditionsOf>) {
  const isFree: Condition = ({ me, other, primary, name, state: { promoted } }) =>
    (name === 1 || primary.gen > 0 || promoted > 0) &&
    !(primary.holder === 3 - name && other.trust === 2 && other.old === 0) &&
    me.has + me.old === 0;
  const notice = ({ primary, state: { promoted } }: Scene) => {
    const { line, gen } = primary;
    if (line === promoted || mistake === 'FORGET') return;
    set(primary, { open: 1, toLine: promoted, lostGen: gen, told: 0 });
    if (mistake !== 'EMPTY_WINDOW') primary.lease = 1;
  };
  const takeUp = (scene: Scene) => {
    const { order, doubt } = scene.primary;
    if (scene.isForgotten) scene.assumeSent();
    else if (order === is.PENDING && !sync) set(scene.primary, { order: is.UNKNOWN, doubt: 2 });
    else if (order === is.REFUSED && !sync) scene.primary.doubt = 2;
    else if (order === is.UNKNOWN && !sync && doubt === 0) scene.primary.doubt = 1;
    scene.primary.open = 0;
  };
  return {
    claim: step(
      (scene) => isFree(scene) && scene.primary.gen < generations,
      (scene) => {
        const { me, other, primary, name } = scene;
        notice(scene);
        if (primary.holder === 3 - name && other.old === 0) other.trust = 0;
        set(primary, { gen: primary.gen + 1, holder: name });
        scene.commit();
        set(me, { has: primary.gen, trust: 2, line: scene.state.promoted });
      },
    ),
    takeOver: step(
      (scene) => fenced(scene) && scene.me.ready === 0 && scene.me.old === 0,
      (scene) => {
        const { me, primary } = scene;
        if (primary.order === is.SENDING) primary.order = mistake === 'RECOVER' ? is.PENDING : is.UNKNOWN;
        if (primary.open > 0) takeUp(scene);
        scene.commit();
        const spent = primary.lease === 1 && mistake !== 'NO_LEASE' ? 2 : 0;
        set(me, { spent, was: me.has, ready: 1 });
      },
    ),
    expire: step(
      ({ me }) => me.trust === 2,
      ({ me }) => set(me, { trust: 1 }),
    ),
    renew: step(
      (scene) => scene.isOnLine && scene.me.trust === 1,
      ({ me }) => set(me, { trust: 2 }),
    ),
    follow: step(
      ({ me, primary, state: { promoted } }) =>
        me.has > 0 &&
        me.old === 0 &&
        me.line !== promoted &&
        me.has === primary.gen &&
        (sync || me.trust === 2 || mistake === 'WOKEN'),
      ({ me, state: { promoted } }) => set(me, { line: promoted, trust: 2 }),
    ),
    lose: step(
      (scene) => scene.me.has > 0 && scene.me.at !== is.BEGUN && (scene.me.trust === 0 || !scene.isFenced),
      ({ me }) => {
        if (me.at === is.SENT && me.wire !== is.FLYING) me.wire = is.NOTHING;
        set(me, { has: 0, trust: 0, ready: 0, at: is.IDLE, spent: 0, line: 0 });
      },
    ),
    die: step(
      ({ me }) => me.has > 0 || me.was > 0,
      ({ me, name, state: { rows } }) => {
        set(me, { ...is.NEW_WORKER, wire: me.wire === is.FLYING ? is.FLYING : is.NOTHING });
        for (const row of rows) for (const by of ['holder', 'last', 'sent'] as const) if (row[by] === name) row[by] = 0;
      },
    ),
    reconnect: step(
      ({ me }) => me.old === 1 && me.at !== is.BEGUN,
      ({ me, primary, name }) => set(me, { old: 0, trust: primary.holder === name ? me.trust : 0 }),
    ),
    report: step(
      ({ me, primary: { toLine, told, lostGen } }) =>
        !sync && me.was > 0 && me.old === 0 && toLine > 0 && told === 0 && lostGen <= me.was,
      (scene) => {
        const { primary } = scene;
        if (scene.isForgotten) scene.assumeSent();
        primary.told = primary.open === 0 ? 1 : 0;
      },
    ),
  };
}

function requests({ mistake, sync }: Setup, { fenced, owns }: ReturnType<typeof conditionsOf>) {
  const isTrusted: Condition = ({ me }) => me.trust === 2 || mistake === 'NO_TRUST';
  return {
    intend: step(
      (scene) =>
        owns(scene) &&
        scene.me.at === is.IDLE &&
        scene.me.wire === is.NOTHING &&
        scene.me.spent !== 2 &&
        scene.row.order === is.PENDING,
      (scene) => {
        const { me, row, name, state } = scene;
        set(me, {
          spent: 1,
          at: sync && mistake !== 'NO_PROOF' ? is.INTENT : is.PROVED,
          mem: me.mem === 1 ? 2 : me.mem,
        });
        if (mistake === 'EARLY') return;
        for (const one of state.rows) if (one.sent === name) one.sent = 0;
        set(row, { order: is.SENDING, sent: name, lease: 1 });
        scene.commit();
      },
    ),
    prove: step(
      ({ me, state: { link }, primary, standby, name }) =>
        me.at === is.INTENT && link === is.STANDBY && primary.last === name && standby.last === name,
      ({ me }) => set(me, { at: is.PROVED }),
    ),
    begin: step(
      (scene) => {
        const { at, wire, spent } = scene.me;
        const isGranted = spent === 1 || (spent === 0 && fenced(scene));
        return at === is.PROVED && wire === is.NOTHING && isTrusted(scene) && isGranted;
      },
      (scene) => {
        if (scene.me.spent === 0) {
          scene.row.lease = 1;
          scene.commit();
        }
        set(scene.me, { spent: 2, mem: sync ? 0 : 1, at: is.BEGUN });
      },
    ),
    unsend: step(
      (scene) => fenced(scene) && [is.INTENT, is.PROVED].includes(scene.me.at),
      (scene) => {
        scene.row.order = is.PENDING;
        scene.me.at = is.IDLE;
        scene.commit();
      },
    ),
    leave: step(
      ({ me }) => me.at === is.BEGUN,
      ({ me, state }) => {
        set(me, { at: is.SENT, wire: is.FLYING });
        state.arrived += 1 - me.old;
      },
    ),
    breakOff: step(
      ({ me }) => me.at === is.BEGUN,
      ({ me }) => set(me, { at: is.SENT, wire: is.LOST }),
    ),
  };
}

function outcomes({ mistake }: Setup, { fenced, owns, quiet }: ReturnType<typeof conditionsOf>) {
  const { FLYING, SENT, YES, NO, LOST, NOTHING, SENDING, UNKNOWN, SETTLED, REFUSED, PENDING, IDLE } = is;
  const isProof: Condition = ({ row, state }) => (row.doubt === 0 ? state.taken === 0 : mistake === 'ABSENCE');
  return {
    take: step(
      ({ me }) => me.wire === FLYING,
      ({ me, state }) => {
        state.taken += 1;
        me.wire = me.at === SENT ? YES : NOTHING;
      },
    ),
    refuse: step(
      ({ me }) => me.wire === FLYING,
      ({ me }) => set(me, { wire: me.at === SENT ? NO : NOTHING }),
    ),
    drop: step(
      ({ me }) => me.at === SENT && me.wire !== LOST,
      ({ me }) => set(me, { wire: LOST }),
    ),
    record: step(
      (scene) => fenced(scene) && scene.me.at === SENT && scene.me.wire >= YES,
      (scene) => {
        const { me, row } = scene;
        if (me.wire === YES) set(row, { order: SETTLED, doubt: 0 });
        else if (row.order === SENDING) row.order = me.wire === NO || mistake === 'TIMEOUT' ? PENDING : UNKNOWN;
        set(me, { at: IDLE, wire: NOTHING });
        scene.commit();
      },
    ),
    reject: step(
      (scene) => fenced(scene) && scene.me.at === SENT && scene.me.wire === NO && scene.row.order === SENDING,
      (scene) => {
        scene.row.order = scene.row.doubt > 0 ? UNKNOWN : REFUSED;
        set(scene.me, { at: IDLE, wire: NOTHING });
        scene.commit();
      },
    ),
    found: step(
      (scene) => owns(scene) && scene.state.taken > 0 && ![SENDING, SETTLED].includes(scene.row.order),
      (scene) => {
        set(scene.row, { order: SETTLED, doubt: 0 });
        scene.commit();
      },
    ),
    absent: step(
      (scene) => owns(scene) && quiet(scene) && scene.row.order === UNKNOWN && isProof(scene),
      (scene) => {
        set(scene.row, { order: PENDING, doubt: 1 });
        scene.commit();
      },
    ),
  };
}

function world({ promotions, sync }: Setup, { quiet }: ReturnType<typeof conditionsOf>) {
  const { PENDING, UNKNOWN, SETTLED, REFUSED, STANDBY } = is;
  const mayPromote: Condition = ({ state }) => state.link === STANDBY && state.promoted < promotions;
  const next = ({ p, promoted }: State, link: number) => ({ p: 1 - p, promoted: promoted + 1, link });
  return {
    settle: step(
      ({ primary }) => primary.order === UNKNOWN,
      ({ primary }) => set(primary, { order: SETTLED, doubt: 0 }),
    ),
    free: step(
      (scene) => {
        const { order, doubt } = scene.primary;
        return quiet(scene) && scene.state.taken === 0 && (order === UNKNOWN || (order === REFUSED && doubt >= 2));
      },
      ({ primary }) => set(primary, { order: primary.order === UNKNOWN ? PENDING : REFUSED, doubt: 1 }),
    ),
    again: step(
      ({ primary }) => primary.order === REFUSED,
      ({ primary }) => set(primary, { order: primary.doubt >= 2 ? UNKNOWN : PENDING }),
    ),
    end: step(
      ({ primary }) => primary.order === PENDING,
      ({ primary }) => set(primary, { order: REFUSED }),
    ),
    tick: step(
      ({ state }) => state.workers.every(({ at, wire }) => at !== is.BEGUN && wire !== is.FLYING),
      ({ state }) => {
        state.arrived = 0;
        for (const one of state.workers) one.spent = 0;
        for (const row of state.rows) row.lease = 0;
      },
    ),
    replicate: step(
      ({ state }) => state.link === STANDBY,
      ({ primary, standby }) => set(standby, primary),
    ),
    promote: step(mayPromote, ({ state, primary }) => {
      set(primary, is.EMPTY_ROW);
      set(state, next(state, is.GONE));
    }),
    split: step(
      (scene) => sync && mayPromote(scene),
      ({ state }) => {
        set(state, next(state, is.SPLIT));
        for (const one of state.workers) one.old = one.has > 0 ? 1 : 0;
      },
    ),
    rejoin: step(
      ({ state, me, other }) =>
        state.link !== STANDBY && me.old === 0 && other.old === 0 && (sync || state.promoted < promotions),
      ({ state, primary, standby }) => {
        set(standby, primary);
        state.link = STANDBY;
      },
    ),
  };
}

/** The steps of a set-up by their names: those of each worker, and those of the servers, the shop and a person. */
export function stepsOf(setup: Setup) {
  const conditions = conditionsOf(setup);
  return {
    ofWorker: { ...ownership(setup, conditions), ...requests(setup, conditions), ...outcomes(setup, conditions) },
    ofWorld: world(setup, conditions),
  };
}
