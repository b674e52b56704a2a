"""The reproduction of three papers: claims, studies, captions, the report, the workflow's targets."""
