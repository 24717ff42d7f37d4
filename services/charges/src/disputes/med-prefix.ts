/** The nature of a return under the MED begins so; every other return is the merchant's own (decision 78). */
export const MED_PREFIX = 'MED_';
