import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseFault } from '../../control-plane/fault-notation.js';
import { type Fault, FaultPlan, type FaultRule } from '../../control-plane/faults.js';
import { wireScript } from '../../control-plane/wire-script.js';

const cut: Fault = { kind: 'cut-before-headers' };
const hang: Fault = { kind: 'hang-before-headers' };

/** Which of so many equal exchanges are struck, counted from 1. */
function struck(plan: FaultPlan, exchanges = 10): number[] {
  const numbers = Array.from({ length: exchanges }, (_, index) => index + 1);
  return numbers.filter(() => plan.decide({ endpoint: 'get-operation', target: '/v2/projects/p/operations/o' }));
}

function struckBy(rule: Omit<FaultRule, 'fault'>, seed = 1): number[] {
  return struck(new FaultPlan<Fault>(seed, [{ ...rule, fault: cut }]));
}

describe('when a fault strikes', () => {
  it.each([
    [{}, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]],
    [{ nth: 3 }, [3]],
    [{ from: 8 }, [8, 9, 10]],
    [{ count: 2 }, [1, 2]],
    [{ from: 3, count: 2 }, [3, 4]],
    [{ every: 4 }, [1, 5, 9]],
    [{ from: 2, every: 3, count: 2 }, [2, 5]],
    [{ endpoint: 'get-operation', nth: 1 }, [1]],
    [{ endpoint: 'any', nth: 1 }, [1]],
    [{ endpoint: 'list-keys' }, []],
    [{ path: 'operations/o', nth: 1 }, [1]],
    [{ path: 'operations/other' }, []],
    [{ probability: 0 }, []],
  ] as const)('%j', (rule, expected) => {
    expect(struckBy(rule)).toEqual(expected);
  });

  it('by chance: the same for the same seed, whatever other rules there are', () => {
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const alone = struckBy({ probability: 0.5 }, seed);
        const plan = new FaultPlan<Fault>(seed, [{ fault: cut, probability: 0.5 }]);
        plan.add({ fault: hang, endpoint: 'list-keys', probability: 0.5 });
        expect(struck(plan)).toEqual(alone);
      }),
    );
    expect(struckBy({ probability: 0.5, count: 3 }, 4)).toHaveLength(3);
  });

  it('counts from when the rule was added, and can be taken away', () => {
    const plan = new FaultPlan<Fault>(1);
    expect(struck(plan)).toEqual([]);
    const remove = plan.add({ fault: cut, from: 2 });
    expect(struck(plan, 3)).toEqual([2, 3]);
    remove();
    expect(struck(plan)).toEqual([]);
    plan.add({ fault: cut });
    plan.clear();
    expect(struck(plan)).toEqual([]);
  });

  it('lets the first rule win, and the others count on', () => {
    const plan = new FaultPlan<Fault>(1, [
      { fault: cut, nth: 1 },
      { fault: hang, nth: 2 },
    ]);
    const exchange = { endpoint: 'list-keys', target: '/v2/api_keys' } as const;
    expect([plan.decide(exchange), plan.decide(exchange), plan.decide(exchange)]).toEqual([cut, hang, undefined]);
  });
});

describe('what goes over the wire', () => {
  const answer = { status: 200, headers: { 'x-request-id': 'r' }, body: '{"a":1}' };
  const headers = { 'x-request-id': 'r', 'content-length': '7' };
  const head = { step: 'head', status: 200, headers };
  const whole = { step: 'answer', answer: { ...answer, headers }, closeOnNextRequest: false };
  it.each<[Fault | undefined, object[]]>([
    [undefined, [whole]],
    [cut, [{ step: 'cut', by: 'close' }]],
    [{ ...cut, by: 'reset' }, [{ step: 'cut', by: 'reset' }]],
    [hang, [{ step: 'hang' }]],
    [{ kind: 'delay', ms: 5 }, [{ step: 'wait', ms: 5 }, whole]],
    [{ kind: 'hang-mid-body' }, [head, { step: 'send', text: '{"a' }, { step: 'hang' }]],
    [{ kind: 'cut-mid-body' }, [head, { step: 'send', text: '{"a' }, { step: 'cut', by: 'close' }]],
    [{ kind: 'bad-json' }, [{ ...whole, answer: { status: 200, headers, body: '{"a":1<' } }]],
    [{ kind: 'close-on-next-request' }, [{ ...whole, closeOnNextRequest: true }]],
  ])('%j', (fault, script) => {
    expect(wireScript(fault, answer)).toEqual(script);
  });
});

describe('a rule on the command line', () => {
  it.each<[string, FaultRule]>([
    ['get-operation:3:503', { endpoint: 'get-operation', nth: 3, fault: { kind: 'status', status: 503 } }],
    ['any:2+:reset', { endpoint: 'any', from: 2, fault: { kind: 'cut-before-headers', by: 'reset' } }],
    [
      'list-keys:2-4:429=5',
      { endpoint: 'list-keys', from: 2, count: 3, fault: { kind: 'status', status: 429, retryAfter: { seconds: 5 } } },
    ],
    ['any:*:delay=20', { endpoint: 'any', fault: { kind: 'delay', ms: 20 } }],
    ['any:12.5%:bad-json', { endpoint: 'any', probability: 0.125, fault: { kind: 'bad-json' } }],
    [
      'create-key:1:done-later=3000',
      { endpoint: 'create-key', nth: 1, fault: { kind: 'cut-before-headers', done: { msAfterGivenUp: 3000 } } },
    ],
    [
      'any:1:redirect=http://127.0.0.1:9/x=y',
      { endpoint: 'any', nth: 1, fault: { kind: 'redirect', location: 'http://127.0.0.1:9/x=y' } },
    ],
  ])('%s', (text, rule) => {
    expect(parseFault(text)).toEqual(rule);
  });

  it.each(['', 'any', 'any:1', 'other:1:503', 'any:0:503', 'any:4-2:503', 'any:1:99', 'any:1:delay', 'any:1:cut=1'])(
    'is refused: %s',
    (text) => {
      expect(() => parseFault(text)).toThrow(`'${text}' is not a rule for a fault: `);
    },
  );
});
