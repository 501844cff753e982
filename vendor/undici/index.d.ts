export class ProxyAgent {}
