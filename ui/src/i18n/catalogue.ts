// The texts of every part of the window, by language. Each part has its own file so that parts stay small.
import enApproval from "../messages/en/approval.json";
import enAudit from "../messages/en/audit.json";
import enChat from "../messages/en/chat.json";
import enData from "../messages/en/data.json";
import enLayers from "../messages/en/layers.json";
import enMapping from "../messages/en/mapping.json";
import enMemory from "../messages/en/memory.json";
import enModel from "../messages/en/model.json";
import enPrivacy from "../messages/en/privacy.json";
import enRemembered from "../messages/en/remembered.json";
import enServers from "../messages/en/servers.json";
import enSettings from "../messages/en/settings.json";
import enShell from "../messages/en/shell.json";
import enTools from "../messages/en/tools.json";
import svApproval from "../messages/sv/approval.json";
import svAudit from "../messages/sv/audit.json";
import svChat from "../messages/sv/chat.json";
import svData from "../messages/sv/data.json";
import svLayers from "../messages/sv/layers.json";
import svMapping from "../messages/sv/mapping.json";
import svMemory from "../messages/sv/memory.json";
import svModel from "../messages/sv/model.json";
import svPrivacy from "../messages/sv/privacy.json";
import svRemembered from "../messages/sv/remembered.json";
import svServers from "../messages/sv/servers.json";
import svSettings from "../messages/sv/settings.json";
import svShell from "../messages/sv/shell.json";
import svTools from "../messages/sv/tools.json";
import type { Message } from "./plural";

export const en = {
  ...enShell,
  ...enChat,
  ...enData,
  ...enMapping,
  ...enAudit,
  ...enTools,
  ...enServers,
  ...enLayers,
  ...enSettings,
  ...enMemory,
  ...enRemembered,
  ...enModel,
  ...enPrivacy,
  ...enApproval,
};
export const sv = {
  ...svShell,
  ...svChat,
  ...svData,
  ...svMapping,
  ...svAudit,
  ...svTools,
  ...svServers,
  ...svLayers,
  ...svSettings,
  ...svMemory,
  ...svRemembered,
  ...svModel,
  ...svPrivacy,
  ...svApproval,
};

export type MessageKey = keyof typeof en;
export type Language = "en" | "sv";

export const catalogues: Record<Language, Record<string, Message>> = { en, sv };
export const parts = {
  en: [
    enShell,
    enChat,
    enData,
    enMapping,
    enAudit,
    enTools,
    enServers,
    enLayers,
    enSettings,
    enMemory,
    enRemembered,
    enModel,
    enPrivacy,
    enApproval,
  ],
  sv: [
    svShell,
    svChat,
    svData,
    svMapping,
    svAudit,
    svTools,
    svServers,
    svLayers,
    svSettings,
    svMemory,
    svRemembered,
    svModel,
    svPrivacy,
    svApproval,
  ],
};
