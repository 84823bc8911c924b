import { runService } from '../../shared/runtime/run-service.ts';
import { startSlotService } from './service.ts';

await runService('slot', startSlotService);
