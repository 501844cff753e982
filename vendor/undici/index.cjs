'use strict';

class ProxyAgent {
  constructor() {
    throw new Error('getAgentDispatcher() is not part of this bundle; request() goes through tunnel.');
  }
}

exports.ProxyAgent = ProxyAgent;
