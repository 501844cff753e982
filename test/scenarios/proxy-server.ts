export { loginRequired as wantsLogin, startProxy } from '../kit/peers.js';
