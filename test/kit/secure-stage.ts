import { expect, type TestContext } from 'vitest';
import type { ServedControlPlaneOptions } from '../../control-plane/index.js';
import type { StepResult } from '../runner/step.js';
import { type ProxyBehaviour, type ProxyServer, startProxy } from './peers.js';
import { mainSteps, type Stage, setProcess, warningsOf } from './stage.js';
import { authorityFile, good } from './tls/certificates.js';

export const hiddenUrl = 'https://control.test/v2';

/** A control plane that speaks TLS, and processes that reach it at a name that only their proxy knows. */
export async function setSecureStage(
  context: TestContext,
  { behaviour, ...options }: ServedControlPlaneOptions & { readonly behaviour?: ProxyBehaviour } = {},
) {
  const stage = await setProcess(context, { tls: good, ...options });
  const port = Number(new URL(stage.service.baseUrl).port);
  const proxy = await startProxy(context, port, behaviour);
  const env = { https_proxy: proxyUrl(proxy), NODE_EXTRA_CA_CERTS: authorityFile };
  const startMode: Stage['startMode'] = (mode, inputs, more) =>
    stage.startMode(mode, { 'base-url': hiddenUrl, ...inputs }, { ...more, env: { ...env, ...more?.env } });
  return { ...stage, port, proxy, ...mainSteps(startMode, stage.projectId) };
}

export function expectRevoked({ service }: Stage, main: StepResult, post: StepResult): void {
  expect(main.conclusion).toBe('success');
  expect(service.plane.aliveKeys().map(({ name }) => name)).toEqual(['console']);
  expect(post.summary).toMatch(new RegExp(`^### ✅ .*\\b${main.outputs['key-id']}\\b`));
  expect(warningsOf(post)).toEqual([]);
}

export const proxyUrl = ({ port }: ProxyServer, login = ''): string => `http://${login}127.0.0.1:${port}`;
