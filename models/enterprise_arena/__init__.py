"""EnterpriseArena: 132 months of a consumer lender, steered by its chief financial officer."""

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
from models.enterprise_arena.macro import Macro
from models.enterprise_arena.observation import Month, Noted, Reply
from models.enterprise_arena.params import EnterpriseArena

__all__ = [
    "AccessFinancialDocs",
    "AnalyzeMarketConditions",
    "BookClosing",
    "CashFlowForecastCalculation",
    "CheckCashInBank",
    "CheckMarketData",
    "Command",
    "ConductCashflowProjection",
    "EnterpriseArena",
    "FundRaisingRequest",
    "Macro",
    "Month",
    "Noted",
    "Pass",
    "RecallNotes",
    "Reply",
    "ReviewFinancialRecords",
    "SaveNote",
    "VerifyCashPosition",
]
