export { startMuteServer } from '../kit/peers.js';
