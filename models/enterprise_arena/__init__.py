"""EnterpriseArena: 132 months of a consumer lender under its chief financial officer."""

from models.enterprise_arena.desk import (
    AccessFinancialDocs,
    AnalyzeMarketConditions,
    BareMonth,
    BookClosing,
    CashFlowForecastCalculation,
    CheckCashInBank,
    CheckMarketData,
    Command,
    CommandReply,
    ConductCashflowProjection,
    FundRaisingRequest,
    Month,
    Note,
    Pass,
    RecallNotes,
    ReviewFinancialRecords,
    SaveNote,
    VerifyCashPosition,
)
from models.enterprise_arena.macro import Macro
from models.enterprise_arena.model import EnterpriseArena
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
