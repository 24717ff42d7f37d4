import { type Answer, call, stack } from './mesh.ts';

/** Words of the simulator's control API for one Pix; a 409 is the acquirer's own answer, not a fault. */
export const acquirer = {
  pay: (chargeId: string, body: object = {}) => post(`/control/charges/${chargeId}/pay`, body),
  payCode: (brCode: string) => post('/control/payments', { br_code: brCode }),
  returnPix: (endToEndId: string, body: object) => post(`/control/pix/${endToEndId}/returns`, body),
  openDispute: (body: object) => post('/control/disputes', body),
  decideDispute: (id: string, body: object) => post(`/control/disputes/${id}/decide`, body),
  withdrawDispute: (id: string) => post(`/control/disputes/${id}/withdraw`, {}),
};

async function post(path: string, body: object): Promise<Answer> {
  const answer = await call(stack().simulator_url + path, { method: 'POST', body });
  if (answer.status >= 500) throw new Error(`the simulator answered ${answer.status} to ${path}`);
  return answer;
}
