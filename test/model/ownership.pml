/*
 * Who may send one order, and when: a model of the rules by which workers share an account over a replicated PostgreSQL.
 * `npm run model` explores all of it with Spin, and with the same steps in TypeScript (steps.ts), in each set-up and with each mistake:
 * `spin -DSYNC=0 -DGENERATIONS=2 -DPROMOTIONS=1 -DMISTAKE=0 -a ownership.pml && gcc -DSAFETY -DNOREDUCE -o pan pan.c && ./pan -m1000000`
 * SYNC is database.synchronousStandbys; the other two bound how many claims and promotions there are.
 *
 * Two servers, two workers, one order, one exchange whose limit is one create in a window. Each step is atomic, as a transaction or a
 * request is, and any step may come next if its condition holds. No clock runs: a time that the program waits is a condition.
 * QUIET stands for what a person and a documented absence wait for: minutes, in which each request has arrived or is lost and the
 * lease of a former owner is over. The model has no older copies that are put back, no rows that other programs lock, and no
 * look-ups in the rate; with a synchronous standby no worker needs to remember what it sent, so `report` is left out there.
 *
 * step        the rule                                                  the function that has it
 * claim       the next generation; on another time-line a fail-over     claimAccounts        src/extensions/postgres/sharing/workers.ts
 * expire      trusted for less time than the heartbeat lasts            isTrusted            src/extensions/postgres/sharing/leases.ts
 * renew       a renewal after a pause, unless declared over             beat                 src/extensions/postgres/sharing/leases.ts
 * follow      on a promoted server only without a pause                 beat                 src/extensions/postgres/sharing/leases.ts
 * FENCED      each write requires the generation, the last commit       #lockAccount         src/extensions/postgres/writer.ts
 *             and the time-line of the last renewal
 * lose        an owner that another has followed writes nothing         #assertNotFollowed   src/extensions/postgres/writer.ts
 * takeOver    `sending` becomes unknown                                 settleSending        src/orders/recover.ts
 *             after a fail-over what may have been sent is in doubt     takeUpFailOvers      src/orders/fail-over.ts
 *             with a synchronous standby only what is known to be lost  isCovered            src/accounts/rules/fail-over.ts
 *             the window holds what the last owner was granted          spentByLastOwner     src/orders/pass/lease.ts
 *             after a fail-over the window begins full                  takeOver             src/app.ts
 * intend      the intent and the lease of requests are durable first    claim                src/orders/create.ts
 * prove       the intent is on a standby before the request leaves      judge                src/extensions/postgres/standbys.ts
 * begin       trust and a lease, right before the request               ensure               src/orders/pass/lease.ts
 *             the worker remembers what it sent                         add                  src/orders/pass/sent-intents.ts
 * unsend      a create that did not leave is pending again              turnOnceReplicated   src/orders/create.ts
 * breakOff    a request that waited too long is broken off: unknown     becomesUnknown       src/orders/rules/create.ts
 * record      the answer decides; none is unknown, never sent again     decideCreated        src/orders/rules/create.ts
 * found       a look-up that finds it settles it                        decideLookup         src/orders/rules/follow.ts
 * absent      `resend`, once, and never what was in doubt               absent               src/orders/rules/absent.ts
 * settle      a person says that it exists, or abandons it              decideOrders         src/extensions/operate/decide-orders.ts
 * free        a person has asked: it was not created                    decideFailOver       src/extensions/restore/restore.ts
 * again       a refused order is sent again, unless in doubt            doubtedBy            src/accounts/rules/fail-over.ts
 * report      a late worker names what it sent                          reportSent           src/orders/fail-over.ts
 */
/* Mistakes that can be planted, `-DMISTAKE=NO_MARK`. steps.ts says what each is. */
#define EARLY        1
#define NO_FENCE     2
#define NO_MARK      3
#define NO_TRUST     4
#define FORGET       5
#define EMPTY_WINDOW 6
#define RECOVER      7
#define NO_LEASE     8
#define TIMEOUT      9
#define ABSENCE      10
#define WOKEN        11
#define NO_PROOF     12
#define PENDING 0
#define SENDING 1
#define UNKNOWN 2   /* and held */
#define SETTLED 3   /* accepted, open, final, disputed, abandoned */
#define REFUSED 4   /* rejected, invalid, cancelled */
#define IDLE    0   /* at: the create of a worker */
#define INTENT  1
#define PROVED  2
#define BEGUN   3
#define SENT    4
#define NOTHING 0   /* wire */
#define FLYING  1
#define YES     2
#define NO      3
#define LOST    4
#define GONE    0   /* link: the other server */
#define STANDBY 1
#define SPLIT   2

/* The servers: the order's row, the account's row and its newest fail-over. A worker w is named w + 1 in them, and 0 is no worker. */
byte order[2], sent[2] /* whose intent is the newest */;
byte doubt[2] /* 1 absence proves nothing, 2 in doubt of a fail-over */;
byte gen[2], holder[2], last[2] /* whose commit */, lease[2] /* requests granted in this window */, line[2] /* of the last commit */;
byte open[2] /* not taken up */, toLine[2], lostGen[2], told[2];
byte p = 0, link = STANDBY, promoted = 0;
/* The workers. One that has died is as one that has just begun. */
byte has[2] /* a generation */, trust[2] /* 2 trusted, 1 lapsed, 0 over */, ready[2], at[2], spent[2] /* 1 granted, 2 used */;
byte was[2] /* its generation when it took over last */, mem[2] /* 1 its newest intent was sent, 2 an older one */;
byte at_line[2] /* of its last renewal */;
byte old[2] /* is connected to the old primary */;
/* The exchange. */
byte wire[2], taken = 0, arrived = 0 /* in this window */;

#define SIDE(w)   (old[w] -> 1 - p : p)
#define LINE(x)   (x == p -> promoted : promoted - 1)
#define ON_LINE(w) (has[w] > 0 && at_line[w] == LINE(SIDE(w)))
#define IS_LAST(w) (has[w] == gen[SIDE(w)] && (last[SIDE(w)] == w + 1 || MISTAKE == NO_MARK))
#define FENCED(w) (ON_LINE(w) && (IS_LAST(w) || MISTAKE == NO_FENCE))
#define OWNS(w)   (FENCED(w) && ready[w])
#define MAY_LEAVE(w) (at[w] == BEGUN || wire[w] == FLYING || (at[w] == PROVED && trust[w] && (spent[w] == 1 || FENCED(w))))
#define QUIET     (!MAY_LEAVE(0) && !MAY_LEAVE(1))
#define FORGOTTEN(w) (mem[w] == 2 || (mem[w] == 1 && sent[p] != w + 1)) /* the server lacks the intent that w sent */

inline commit(x, w) {
  if :: last[1 - (x)] == w + 1 -> last[1 - (x)] = 0 :: else fi;
  last[x] = w + 1; line[x] = LINE(x)
}
inline copy(to, from) {
  order[to] = order[from]; doubt[to] = doubt[from]; sent[to] = sent[from]; gen[to] = gen[from];
  holder[to] = holder[from]; last[to] = last[from]; lease[to] = lease[from]; line[to] = line[from];
  open[to] = open[from]; toLine[to] = toLine[from]; lostGen[to] = lostGen[from]; told[to] = told[from]
}
inline clear(x) {
  order[x] = 0; doubt[x] = 0; sent[x] = 0; gen[x] = 0; holder[x] = 0; last[x] = 0; lease[x] = 0; line[x] = 0;
  open[x] = 0; toLine[x] = 0; lostGen[x] = 0; told[x] = 0
}
inline assumeSent() {
  if
  :: order[p] == PENDING || order[p] == REFUSED -> order[p] = UNKNOWN; doubt[p] = 2
  :: order[p] == UNKNOWN && doubt[p] == 0 -> doubt[p] = 1
  :: else
  fi
}

inline claim(w) { d_step {
  has[w] == 0 && !old[w] && gen[p] < GENERATIONS && (w == 0 || gen[p] > 0 || promoted) /* the two are alike */ &&
    !(holder[p] == 2 - w && trust[1 - w] == 2 && !old[1 - w]) ->
  if
  :: line[p] != promoted && MISTAKE != FORGET ->
    open[p] = 1; toLine[p] = promoted; lostGen[p] = gen[p]; told[p] = 0;
    lease[p] = (MISTAKE == EMPTY_WINDOW -> lease[p] : 1)
  :: else
  fi;
  if :: holder[p] == 2 - w && !old[1 - w] -> trust[1 - w] = 0 :: else fi;
  gen[p] = gen[p] + 1; holder[p] = w + 1; commit(p, w);
  has[w] = gen[p]; trust[w] = 2; at_line[w] = promoted
} }
inline takeOver(w) { d_step {
  FENCED(w) && !ready[w] && !old[w] ->
  if :: order[p] == SENDING -> order[p] = (MISTAKE == RECOVER -> PENDING : UNKNOWN) :: else fi;
  if
  :: open[p] ->
    if
    :: FORGOTTEN(w) -> assumeSent()
    :: else ->
      if
      :: order[p] == PENDING && !SYNC -> order[p] = UNKNOWN; doubt[p] = 2
      :: order[p] == REFUSED && !SYNC -> doubt[p] = 2
      :: order[p] == UNKNOWN && !SYNC && doubt[p] == 0 -> doubt[p] = 1
      :: else
      fi
    fi;
    open[p] = 0
  :: else
  fi;
  spent[w] = (lease[p] && MISTAKE != NO_LEASE -> 2 : 0);
  commit(p, w); was[w] = has[w]; ready[w] = 1
} }
inline expire(w) { d_step { trust[w] == 2 -> trust[w] = 1 } }
inline renew(w)  { d_step { ON_LINE(w) && trust[w] == 1 -> trust[w] = 2 } }
inline follow(w) { d_step {
  has[w] > 0 && !old[w] && at_line[w] != promoted && has[w] == gen[p] && (SYNC || trust[w] == 2 || MISTAKE == WOKEN) ->
  at_line[w] = promoted; trust[w] = 2
} }
inline lose(w)   { d_step {
  has[w] > 0 && at[w] != BEGUN && (trust[w] == 0 || !ON_LINE(w) || has[w] != gen[SIDE(w)] || last[SIDE(w)] != w + 1) ->
  if :: at[w] == SENT && wire[w] != FLYING -> wire[w] = NOTHING :: else fi;
  has[w] = 0; trust[w] = 0; ready[w] = 0; at[w] = IDLE; spent[w] = 0; at_line[w] = 0
} }
inline die(w)    { d_step {
  has[w] > 0 || was[w] > 0 ->
  if :: wire[w] != FLYING -> wire[w] = NOTHING :: else fi;
  has[w] = 0; trust[w] = 0; ready[w] = 0; at[w] = IDLE; spent[w] = 0; was[w] = 0; mem[w] = 0; at_line[w] = 0; old[w] = 0;
  if :: holder[0] == w + 1 -> holder[0] = 0 :: else fi; if :: holder[1] == w + 1 -> holder[1] = 0 :: else fi;
  if :: last[0] == w + 1 -> last[0] = 0 :: else fi; if :: last[1] == w + 1 -> last[1] = 0 :: else fi;
  if :: sent[0] == w + 1 -> sent[0] = 0 :: else fi; if :: sent[1] == w + 1 -> sent[1] = 0 :: else fi
} }

inline intend(w) { d_step {
  OWNS(w) && at[w] == IDLE && wire[w] == NOTHING && spent[w] != 2 && order[SIDE(w)] == PENDING ->
  if
  :: MISTAKE == EARLY
  :: else ->
    if :: sent[1 - SIDE(w)] == w + 1 -> sent[1 - SIDE(w)] = 0 :: else fi;
    order[SIDE(w)] = SENDING; sent[SIDE(w)] = w + 1; lease[SIDE(w)] = 1; commit(SIDE(w), w)
  fi;
  if :: mem[w] == 1 -> mem[w] = 2 :: else fi;
  spent[w] = 1; at[w] = (SYNC && MISTAKE != NO_PROOF -> INTENT : PROVED)
} }
inline prove(w)  { d_step { at[w] == INTENT && link == STANDBY && last[p] == w + 1 && last[1 - p] == w + 1 -> at[w] = PROVED } }
inline begin(w)  { d_step {
  at[w] == PROVED && wire[w] == NOTHING && (trust[w] == 2 || MISTAKE == NO_TRUST) &&
    (spent[w] == 1 || (spent[w] == 0 && FENCED(w))) ->
  if :: spent[w] == 0 -> lease[SIDE(w)] = 1; commit(SIDE(w), w) :: else fi;
  spent[w] = 2; mem[w] = !SYNC; at[w] = BEGUN
} }
inline unsend(w)   { d_step {
  FENCED(w) && (at[w] == INTENT || at[w] == PROVED) -> order[SIDE(w)] = PENDING; at[w] = IDLE; commit(SIDE(w), w)
} }
inline leave(w)    { d_step { at[w] == BEGUN -> at[w] = SENT; wire[w] = FLYING; arrived = arrived + !old[w] } }
inline breakOff(w) { d_step { at[w] == BEGUN -> at[w] = SENT; wire[w] = LOST } }
inline take(w)     { d_step { wire[w] == FLYING -> taken++; wire[w] = (at[w] == SENT -> YES : NOTHING) } }
inline refuse(w)   { d_step { wire[w] == FLYING -> wire[w] = (at[w] == SENT -> NO : NOTHING) } }
inline drop(w)     { d_step { at[w] == SENT && wire[w] != LOST -> wire[w] = LOST } }
inline record(w)   { d_step {
  FENCED(w) && at[w] == SENT && wire[w] >= YES ->
  if
  :: wire[w] == YES -> order[SIDE(w)] = SETTLED; doubt[SIDE(w)] = 0
  :: wire[w] == NO && order[SIDE(w)] == SENDING -> order[SIDE(w)] = PENDING
  :: wire[w] == LOST && order[SIDE(w)] == SENDING -> order[SIDE(w)] = (MISTAKE == TIMEOUT -> PENDING : UNKNOWN)
  :: else
  fi;
  at[w] = IDLE; wire[w] = NOTHING; commit(SIDE(w), w)
} }
inline reject(w) { d_step {
  FENCED(w) && at[w] == SENT && wire[w] == NO && order[SIDE(w)] == SENDING ->
  order[SIDE(w)] = (doubt[SIDE(w)] -> UNKNOWN : REFUSED); at[w] = IDLE; wire[w] = NOTHING; commit(SIDE(w), w)
} }
inline found(w)  { d_step {
  OWNS(w) && taken > 0 && order[SIDE(w)] != SENDING && order[SIDE(w)] != SETTLED ->
  order[SIDE(w)] = SETTLED; doubt[SIDE(w)] = 0; commit(SIDE(w), w)
} }
inline absent(w) { d_step {
  OWNS(w) && QUIET && order[SIDE(w)] == UNKNOWN && (doubt[SIDE(w)] -> MISTAKE == ABSENCE : taken == 0) ->
  order[SIDE(w)] = PENDING; doubt[SIDE(w)] = 1; commit(SIDE(w), w)
} }
inline report(w) { d_step {
  !SYNC && was[w] > 0 && !old[w] && toLine[p] && !told[p] && lostGen[p] <= was[w] ->
  if :: FORGOTTEN(w) -> assumeSent() :: else fi;
  told[p] = !open[p] /* otherwise the next owner is still marking, and a later report does the rest */
} }

active proctype world() { do
  :: claim(0) :: claim(1) :: takeOver(0) :: takeOver(1) :: lose(0) :: lose(1) :: die(0) :: die(1)
  :: expire(0) :: expire(1) :: renew(0) :: renew(1) :: follow(0) :: follow(1)
  :: intend(0) :: intend(1) :: prove(0) :: prove(1) :: begin(0) :: begin(1) :: unsend(0) :: unsend(1)
  :: leave(0) :: leave(1) :: breakOff(0) :: breakOff(1)
  :: take(0) :: take(1) :: refuse(0) :: refuse(1) :: drop(0) :: drop(1)
  :: record(0) :: record(1) :: reject(0) :: reject(1) :: found(0) :: found(1) :: absent(0) :: absent(1)
  :: report(0) :: report(1)
  :: d_step { /* settle */ order[p] == UNKNOWN -> order[p] = SETTLED; doubt[p] = 0 }
  :: d_step { /* free */ QUIET && taken == 0 && (order[p] == UNKNOWN || order[p] == REFUSED && doubt[p] >= 2) ->
       if :: order[p] == UNKNOWN -> order[p] = PENDING :: else fi; doubt[p] = 1 }
  :: d_step { /* again */ order[p] == REFUSED -> order[p] = (doubt[p] >= 2 -> UNKNOWN : PENDING) }
  :: d_step { /* end */ order[p] == PENDING -> order[p] = REFUSED }
  /* The window of the rate ends: the next owner keeps room for a request that has begun until it has left or is broken off. */
  :: d_step { /* tick */ at[0] != BEGUN && at[1] != BEGUN && wire[0] != FLYING && wire[1] != FLYING ->
       arrived = 0; spent[0] = 0; spent[1] = 0; lease[0] = 0; lease[1] = 0 }
  :: d_step { /* replicate */ link == STANDBY -> copy(1 - p, p) }
  :: d_step { /* promote */ link == STANDBY && promoted < PROMOTIONS -> p = 1 - p; promoted++; link = GONE; clear(1 - p) }
#if SYNC
  /* Without a synchronous standby nothing notices an old primary that lives on: that is promised with one only. */
  :: d_step { /* split */ link == STANDBY && promoted < PROMOTIONS ->
       p = 1 - p; promoted++; link = SPLIT; old[0] = (has[0] > 0); old[1] = (has[1] > 0) }
  :: d_step { /* reconnect */ old[0] && at[0] != BEGUN -> old[0] = 0; trust[0] = (holder[p] == 1 -> trust[0] : 0) }
  :: d_step { /* reconnect */ old[1] && at[1] != BEGUN -> old[1] = 0; trust[1] = (holder[p] == 2 -> trust[1] : 0) }
#endif
  :: d_step { /* rejoin */ link != STANDBY && !old[0] && !old[1] && (SYNC || promoted < PROMOTIONS) ->
       copy(1 - p, p); link = STANDBY }
  /* The promises. */
  :: d_step { taken > 1 -> assert(false) /* created twice */ }
  :: d_step { arrived > 1 -> assert(false) /* two in one window of the rate */ }
  :: d_step { (OWNS(0) && !old[0] || OWNS(1) && !old[1]) && (taken || MAY_LEAVE(0) && at[0] || MAY_LEAVE(1) && at[1]) &&
       (order[p] == PENDING || order[p] == REFUSED && doubt[p] < 2) -> assert(false) /* may have been sent, and is not in doubt */ }
od }
