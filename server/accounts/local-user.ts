/** Until accounts land there is one local user; the id is that of MaxKB's seeded administrator. */
export const LOCAL_USER_ID = 'f0dd8f71-e4ee-11ee-8c84-a8a1595801ab';
