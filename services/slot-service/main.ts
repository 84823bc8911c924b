import { runService } from '../../shared/rpc/run.ts';
import { startSlotService } from './service.ts';

await runService('slot', startSlotService);
