"""The reproduction of three papers: claims, studies, figures with captions, the report and the workflow's targets."""
