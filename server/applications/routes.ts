import type { FastifyInstance } from 'fastify';
import { sendData } from '../http/envelope.ts';
import { isUuid } from '../http/parse-request.ts';
import { Refusal } from '../http/refusal.ts';
import type { Application } from './application.ts';
import type { ApplicationStore } from './application-store.ts';

/** `GET /api/application` and `GET /api/application/:id` (maxkb-v1-api.md section 2.6). */
export function registerApplicationRoutes(app: FastifyInstance, applications: ApplicationStore): void {
  app.get('/api/application', async (request, reply) => {
    const all = await applications.list();
    return sendData(request, reply, all.map(presentApplication));
  });
  app.get<{ Params: { applicationId: string } }>('/api/application/:applicationId', async (request, reply) => {
    const { applicationId } = request.params;
    const application = isUuid(applicationId) ? await applications.find(applicationId) : null;
    if (!application) throw new Refusal('application_not_found');
    return sendData(request, reply, presentApplication(application));
  });
}

/** An application in the shape of the wire; times are UTC in ISO 8601 with milliseconds. */
function presentApplication(application: Application) {
  return {
    id: application.id,
    name: application.name,
    desc: application.desc,
    prologue: application.prologue,
    dialogue_number: application.dialogueNumber,
    multiple_rounds_dialogue: application.dialogueNumber > 0,
    dataset_id_list: application.datasetIds,
    dataset_setting: application.datasetSetting,
    model_setting: application.modelSetting,
    type: 'SIMPLE',
    create_time: application.createTime.toISOString(),
    update_time: application.updateTime.toISOString(),
  };
}
