"""EnterpriseArena: 132 months of a consumer lender under its chief financial officer."""

from models.enterprise_arena.actions import (
    AccessFinancialDocs,
    AnalyzeMarketConditions,
    BookClosing,
    CashFlowForecastCalculation,
    CheckCashInBank,
    CheckMarketData,
    Command,
    ConductCashflowProjection,
    FundRaisingRequest,
    Pass,
    RecallNotes,
    ReviewFinancialRecords,
    SaveNote,
    VerifyCashPosition,
)
from models.enterprise_arena.economy.macro import Macro
from models.enterprise_arena.model import EnterpriseArena
from models.enterprise_arena.observation import BareMonth, CommandReply, Month, Note
from models.enterprise_arena.params import TREASURY, ArenaParams

__all__ = [
    "TREASURY",
    "AccessFinancialDocs",
    "AnalyzeMarketConditions",
    "ArenaParams",
    "BareMonth",
    "BookClosing",
    "CashFlowForecastCalculation",
    "CheckCashInBank",
    "CheckMarketData",
    "Command",
    "CommandReply",
    "ConductCashflowProjection",
    "EnterpriseArena",
    "FundRaisingRequest",
    "Macro",
    "Month",
    "Note",
    "Pass",
    "RecallNotes",
    "ReviewFinancialRecords",
    "SaveNote",
    "VerifyCashPosition",
]
