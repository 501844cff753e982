export { reach } from '../kit/reach.js';
