export const endpoints = [
  'create-key',
  'list-keys',
  'revoke-key',
  'list-projects',
  'list-operations',
  'get-operation',
  'create-branch',
  'delete-branch',
] as const;

export type Endpoint = (typeof endpoints)[number];

export const basePath = '/v2';

/** `*` stands for a parameter. */
const paths: readonly { readonly segments: readonly string[]; readonly methods: Readonly<Record<string, Endpoint>> }[] =
  [
    { segments: ['api_keys'], methods: { GET: 'list-keys', POST: 'create-key' } },
    { segments: ['api_keys', '*'], methods: { DELETE: 'revoke-key' } },
    { segments: ['projects'], methods: { GET: 'list-projects' } },
    { segments: ['projects', '*', 'branches'], methods: { POST: 'create-branch' } },
    { segments: ['projects', '*', 'branches', '*'], methods: { DELETE: 'delete-branch' } },
    { segments: ['projects', '*', 'operations'], methods: { GET: 'list-operations' } },
    { segments: ['projects', '*', 'operations', '*'], methods: { GET: 'get-operation' } },
  ];

const basePathSlash = `${basePath}/`;

export type Route =
  | { readonly kind: 'endpoint'; readonly endpoint: Endpoint; readonly parameters: readonly string[] }
  | { readonly kind: 'wrong-method'; readonly allowed: readonly string[] }
  | { readonly kind: 'unknown-path' };

const unknownPath: Route = { kind: 'unknown-path' };

export function findRoute(method: string, target: string): Route {
  const path = pathOf(target);
  if (!path.startsWith(basePathSlash)) return unknownPath;
  const segments = path.slice(basePathSlash.length).split('/');
  for (const { segments: pattern, methods } of paths) {
    const parameters = matchSegments(pattern, segments);
    if (parameters === undefined) continue;
    const endpoint = Object.hasOwn(methods, method) ? methods[method] : undefined;
    if (endpoint === undefined) return { kind: 'wrong-method', allowed: Object.keys(methods) };
    return { kind: 'endpoint', endpoint, parameters };
  }
  return unknownPath;
}

/** The endpoint of a request, for the log and for faults. */
export function endpointOf(method: string, target: string): Endpoint | 'other' {
  const route = findRoute(method, target);
  return route.kind === 'endpoint' ? route.endpoint : 'other';
}

function matchSegments(pattern: readonly string[], segments: readonly string[]): string[] | undefined {
  if (pattern.length !== segments.length) return undefined;
  const parameters: string[] = [];
  for (let index = 0; index < segments.length; index++) {
    const segment = segments[index] ?? '';
    if (pattern[index] === '*' && segment !== '') parameters.push(segment);
    else if (pattern[index] !== segment) return undefined;
  }
  return parameters;
}

export function pathOf(target: string): string {
  const end = target.indexOf('?');
  return end < 0 ? target : target.slice(0, end);
}

export function queryOf(target: string): URLSearchParams {
  return new URLSearchParams(target.slice(pathOf(target).length));
}
