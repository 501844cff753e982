export { preload as sabotage, shortPauses as quickDice } from '../kit/preload.js';
