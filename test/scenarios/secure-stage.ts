import type { TestContext } from 'vitest';
import type { ServedControlPlaneOptions } from '../control-plane/index.js';
import type { StepHandle, StepOptions, StepResult } from '../runner/step.js';
import { type ProxyManner, type ProxyServer, startProxy } from './proxy-server.js';
import { type Stage, setStage } from './stage.js';
import { authorityFile, good } from './tls/certificates.js';

/** A control plane that speaks TLS, and steps that know it by a name that only a proxy can find. */
export interface SecureStage extends Stage {
  readonly port: number;
  readonly proxy: ProxyServer;
  startBehindProxy(inputs?: StepOptions['inputs'], env?: StepOptions['env']): StepHandle;
  runBehindProxy(inputs?: StepOptions['inputs'], env?: StepOptions['env']): Promise<StepResult>;
}

export const hiddenUrl = 'https://control.test/v2';

export async function setSecureStage(
  context: TestContext,
  manner?: ProxyManner,
  options: ServedControlPlaneOptions = {},
): Promise<SecureStage> {
  const stage = await setStage(context, { tls: good, ...options });
  const port = Number(new URL(stage.service.baseUrl).port);
  const proxy = await startProxy(context, port, manner);
  const startBehindProxy: SecureStage['startBehindProxy'] = (inputs, env) =>
    stage.start(
      { 'base-url': hiddenUrl, ...inputs },
      { env: { https_proxy: `http://127.0.0.1:${proxy.port}`, NODE_EXTRA_CA_CERTS: authorityFile, ...env } },
    );
  return {
    ...stage,
    port,
    proxy,
    startBehindProxy,
    runBehindProxy: (inputs, env) => startBehindProxy(inputs, env).done,
  };
}
