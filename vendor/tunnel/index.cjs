'use strict';

// http-client makes such an agent for every request through a proxy. The agent of `src/http/connect.ts` then replaces it.
const noAgent = () => undefined;

module.exports = { httpOverHttp: noAgent, httpsOverHttp: noAgent, httpOverHttps: noAgent, httpsOverHttps: noAgent };
