export { attacks, json, nested, printObject as printedObject, record, text } from '../kit/hostile-values.js';
